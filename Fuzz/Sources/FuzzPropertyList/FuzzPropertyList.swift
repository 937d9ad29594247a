import FuzzSupport

/// Called by libFuzzer with each input: a binary property list or one in XML.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    readDocument(input(bytes, count), as: .propertyList)
    return 0
}
