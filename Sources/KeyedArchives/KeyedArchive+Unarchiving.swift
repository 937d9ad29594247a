import Foundation

extension KeyedArchive {
    /// Unarchives the root with Foundation's unarchiver, and makes objects of the given classes only.
    ///
    /// Off Apple's platforms that unarchiver stops the program at much that is wrong in an archive. So the bytes are looked
    /// into first; see `ReadableValue.init(archiveForUnarchiver:)`. An object's own decoding is its class's affair. Throws
    /// ``ArchiveError`` for damaged bytes, and what the unarchiver throws for classes that are not allowed.
    public static func unarchivedRoot(ofClasses classes: [AnyClass], from data: Data) throws -> Any? {
        #if !canImport(Darwin)
            _ = try ReadableValue(archiveForUnarchiver: data)
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
