import Foundation

extension KeyedArchive {
    /// The archive as a binary property list, the keys of every object sorted: Foundation's archiver writes them in a
    /// different order each time.
    ///
    /// Throws ``ArchiveError`` when it nests deeper than the limit.
    public func sortedData() throws -> Data {
        let sorted = objects.map { object in
            guard case .dictionary(let fields) = object else { return object }
            return .dictionary(PropertyListDictionary(sorted: fields.contents))
        }
        return try BinaryPropertyList.write(
            Self.propertyList(
                of: sorted, top: PropertyListDictionary(sorted: top.contents), archiver: archiver))
    }

    /// The property list of an archive of these objects. The format version is always 100000.
    static func propertyList(
        of objects: [PropertyListValue], top: PropertyListDictionary, archiver: String = "NSKeyedArchiver"
    ) -> PropertyListValue {
        .dictionary(
            PropertyListDictionary([
                ("$version", .integer(100_000)), ("$archiver", .string(archiver)), ("$top", .dictionary(top)),
                ("$objects", .array(objects)),
            ]))
    }
}
