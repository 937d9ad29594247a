import FuzzSupport
import KeyedArchives

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    read(expecting: ArchiveError.self) { _ = try ReadableValue(archive: input(bytes, count)) }
    read(expecting: ArchiveError.self) { _ = try PropertyListValue(propertyList: input(bytes, count)) }
    return 0
}
