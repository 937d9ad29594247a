import Foundation

/// The binary property list format, `bplist00`.
///
/// The file is a table of objects: eight bytes of header, the objects, a table of their offsets, and a trailer of 32
/// bytes with the sizes of offsets and references. Containers store the indexes of other objects.
public enum BinaryPropertyList {
    /// The first eight bytes of every binary property list.
    static let header: [UInt8] = Array("bplist00".utf8)
    static let trailerLength = 32

    /// Limits on the work that a hostile file can cause.
    public struct Limits: Sendable {
        /// How deep containers may nest.
        public var depth = 512
        /// The maximum number of values, where a shared object counts once for each reference to it.
        public var valueCount = 50_000_000

        /// Creates the default limits.
        public init() {}
    }

    /// Whether data begins with the header of a binary property list.
    public static func isBinaryPropertyList(_ data: Data) -> Bool {
        data.starts(with: header)
    }

    /// Reads a binary property list. Cost: one pass over the objects that the top object reaches.
    ///
    /// Throws ``ArchiveError`` with the byte offset when the data is malformed.
    public static func read(_ data: Data, limits: Limits = Limits()) throws -> PropertyListValue {
        try data.withUnsafeBytes { bytes in
            var reader = try BinaryPropertyListReader(bytes: bytes, limits: limits)
            return try reader.readTopObject()
        }
    }

    /// Writes a binary property list: equal scalars are written once, objects in the order of Apple's writer. Equal
    /// values give equal bytes. Throws ``ArchiveError`` when containers nest deeper than the limit.
    public static func write(_ value: PropertyListValue, limits: Limits = Limits()) throws -> Data {
        var writer = BinaryPropertyListWriter(depthLimit: limits.depth)
        return try writer.write(value)
    }
}

/// The type of an object: the upper four bits of its first byte. The lower four bits are a count or a size.
enum BinaryPropertyListMarker {
    static let simple: UInt8 = 0x0
    static let integer: UInt8 = 0x1
    static let real: UInt8 = 0x2
    static let date: UInt8 = 0x3
    static let data: UInt8 = 0x4
    static let asciiString: UInt8 = 0x5
    static let utf16String: UInt8 = 0x6
    static let utf8String: UInt8 = 0x7
    static let uid: UInt8 = 0x8
    static let array: UInt8 = 0xA
    static let orderedSet: UInt8 = 0xB
    static let set: UInt8 = 0xC
    static let dictionary: UInt8 = 0xD
}
