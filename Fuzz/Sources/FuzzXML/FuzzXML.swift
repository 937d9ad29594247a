import FuzzSupport

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    readDocument(input(bytes, count), as: .xml)
    return 0
}
