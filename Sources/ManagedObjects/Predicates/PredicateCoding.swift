import Foundation

/// Coding of predicates and expressions in keyed archives, as the text of their format.
internal enum PredicateCoding {
    private static let key = "Format"

    /// The format in an archive.
    static func format(in coder: NSCoder) -> String? {
        coder.decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
    }

    static func encode(_ format: String, with coder: NSCoder) {
        coder.encode(NSString(string: format), forKey: key)
    }

    /// The error for an object that cannot be archived.
    static func unarchivable(_ subject: String) -> CocoaError {
        CocoaError(
            .coderInvalidValue, userInfo: [NSLocalizedDescriptionKey: "\(subject) cannot be archived."])
    }
}
