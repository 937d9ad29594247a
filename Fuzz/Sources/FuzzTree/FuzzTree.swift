import FuzzSupport

/// Called by libFuzzer with each input: a document that is read as plain values, as changes, as one of an older
/// library, and by a mapping.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    readTrees(input(bytes, count))
    return 0
}
