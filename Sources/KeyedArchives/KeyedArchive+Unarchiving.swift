import Foundation

extension KeyedArchive {
    /// Unarchives the root with Foundation's unarchiver, creating objects of the given classes only.
    ///
    /// Outside Apple's platforms that unarchiver stops the program at a class that is not allowed, and at many
    /// malformed archives. So the bytes are checked first; see `ReadableValue.init(archiveForUnarchiver:)`. The
    /// `init(coder:)` of the classes is not checked. Throws ``ArchiveError`` for damaged bytes and, as the unarchiver
    /// does, for classes that are not allowed.
    public static func unarchivedRoot(ofClasses classes: [AnyClass], from data: Data) throws -> Any? {
        #if !canImport(Darwin)
            try ReadableValue(archiveForUnarchiver: data).requireClasses(classes)
        #endif
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        let root = unarchiver.decodeObject(of: classes, forKey: NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw error }
        return root
    }
}

extension ReadableValue {
    /// Throws when the value, or one in its collections, is not of any of the given classes. Numbers, text and data
    /// have no class in an archive.
    fileprivate func requireClasses(_ classes: [AnyClass]) throws {
        let allowed = Set(classes.flatMap { [String(reflecting: $0), String(describing: $0)] })
        var pending = [self]
        while let value = pending.popLast() {
            let names: [String]
            switch value {
            // Members are appended in place: a new array for each collection would cost all that is pending.
            case .array(let members):
                names = ["NSArray", "NSMutableArray"]
                pending += members
            case .set(let members):
                names = ["NSSet", "NSMutableSet"]
                pending += members
            case .orderedSet(let members):
                names = ["NSOrderedSet", "NSMutableOrderedSet"]
                pending += members
            case .dictionary(let pairs):
                names = ["NSDictionary", "NSMutableDictionary"]
                for pair in pairs { pending += [pair.key, pair.value] }
            case .date: names = ["NSDate"]
            case .uuid: names = ["NSUUID"]
            case .url: names = ["NSURL"]
            case .decimal: names = ["NSDecimalNumber", "NSNumber", "NSValue"]
            // A class registered under another name with `NSKeyedUnarchiver` is allowed.
            case .object(let chain, _):
                if chain.first.flatMap({ NSKeyedUnarchiver.class(forClassName: $0) }) != nil { continue }
                names = chain
            default: continue
            }
            guard names.contains(where: allowed.contains) || allowed.contains("NSObject") else {
                throw ArchiveError(.malformed, "The archive contains a \(names.first ?? ""), which is not allowed.")
            }
        }
    }
}

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
