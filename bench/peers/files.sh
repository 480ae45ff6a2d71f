#!/bin/bash
# Whole jobs from file to file beside GDAL's own tools, in turns on one machine: bench/peers/files.sh BUILD_FOLDER [ROUNDS [SIZE [THREADS]]]
# Needs GDAL's command-line tools with Python, GNU time and bc. Prints wall seconds, CPU seconds and peak memory of each run;
# the first round of each command only fills the caches and is not shown. LARGE is the side in pixels of the scene for
# statistics: by default it holds 1 GiB before compression.
set -eu
build=$1
rounds=${2:-3}
size=${3:-10000}
threads=${4:-2}
large=${LARGE:-16384}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/bin/make_scene" "$folder/scene.tif" "$size" "$size" > /dev/null
"$build/bin/make_scene" "$folder/large.tif" "$large" "$large" > /dev/null

measure() {
  local name=$1
  shift
  /usr/bin/time -o "$folder/time" -f '%e %U %S %M' "$@" > /dev/null
  read -r wall user system memory < "$folder/time"
  [ "$round" = 0 ] || printf '%-16s wall %6.2f s   CPU %6.2f s   peak %5.0f MB\n' "$name" "$wall" \
    "$(echo "$user + $system" | bc)" "$(echo "$memory / 1000" | bc)"
}

# The same tiles, compression, level, predictor and threads; pixels where a band has its nodata value become NaN. Once with
# the bands' scale, which is the same job, and once on stored values, which only a common scale without offset allows.
missing='where((A==65535)|(B==65535),float32(nan),'
a='A*float32(0.0001)'
b='B*float32(0.0001)'
calibrated="--calc=$missing($a-$b)/($a+$b))"
stored="--calc=$missing(A.astype(float32)-B)/(A.astype(float32)+B))"
creation=(--co TILED=YES --co BLOCKXSIZE=512 --co BLOCKYSIZE=512 --co COMPRESS=DEFLATE --co PREDICTOR=3
  --co "NUM_THREADS=$threads" --co BIGTIFF=IF_SAFER)
peer=(gdal_calc.py -A "$folder/scene.tif" --A_band=2 -B "$folder/scene.tif" --B_band=1 --type=Float32 --hideNoData
  --overwrite --quiet "--outfile=$folder/other.tif" "${creation[@]}")
export GDAL_PAM_ENABLED=NO
for ((round = 0; round <= rounds; ++round)); do
  measure "tessera ndvi" "$build/bin/tessera" ndvi "$folder/scene.tif" --red 1 --nir 2 -o "$folder/index.tif" --overwrite \
    --threads "$threads"
  measure "gdal_calc.py" "${peer[@]}" "$calibrated"
  measure "gdal_calc stored" "${peer[@]}" "$stored"
  measure "tessera stats" "$build/bin/tessera" stats "$folder/large.tif" --threads "$threads"
  measure "with percentiles" "$build/bin/tessera" stats "$folder/large.tif" --percentiles 2,50,98 --threads "$threads"
  measure "gdalinfo -stats" gdalinfo --config GDAL_NUM_THREADS "$threads" -stats "$folder/large.tif"
  measure "tessera info" "$build/bin/tessera" info "$folder/large.tif"
  measure "gdalinfo" gdalinfo "$folder/large.tif"
done
