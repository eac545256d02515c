// Precompiled headers belong to a target that compiles something with them (tests/CMakeLists.txt).
