import FuzzSupport
import ModelFiles

/// Called by libFuzzer with each input: the XML of a model, or the older archive.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    read(expecting: ModelError.self) { _ = try ModelSourceReader.read(input(bytes, count)).validate() }
    read(expecting: ModelError.self) { _ = try ModelElementsReader.read(input(bytes, count)).validate() }
    return 0
}
