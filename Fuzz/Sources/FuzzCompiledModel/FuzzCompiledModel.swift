import FuzzSupport
import ModelFiles

/// Called by libFuzzer with each input: a compiled model, or the cached model of a store.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    read(expecting: ModelError.self) { _ = try ModelArchive.read(input(bytes, count)).validate() }
    read(expecting: ModelError.self) { _ = try ModelCache.read(input(bytes, count)).validate() }
    return 0
}
