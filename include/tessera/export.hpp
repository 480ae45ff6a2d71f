#pragma once

/// Marks what the shared library exports; everything else has hidden visibility.
#if defined(TESSERA_STATIC)
#define TESSERA_EXPORT
#elif defined(_WIN32)
#if defined(TESSERA_BUILDING)
#define TESSERA_EXPORT __declspec(dllexport)
#else
#define TESSERA_EXPORT __declspec(dllimport)
#endif
#else
#define TESSERA_EXPORT __attribute__((visibility("default")))
#endif
