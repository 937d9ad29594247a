import Foundation
import FuzzSupport
import GraphDocuments

/// Called by libFuzzer with each input: lines of a mapping, key paths, formats of dates and choices; then a document
/// that is read by it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    readMapped(input(bytes, count))
    return 0
}
