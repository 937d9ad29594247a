import Foundation

/// How predicates and expressions take part in keyed archives: as the text of their format.
internal enum PredicateCoding {
    private static let key = "Format"

    /// The format that an archive holds.
    static func format(in coder: NSCoder) -> String? {
        coder.decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
    }

    static func encode(_ format: String, with coder: NSCoder) {
        coder.encode(NSString(string: format), forKey: key)
    }

    /// The error of something that no archive can hold.
    static func unarchivable(_ subject: String) -> CocoaError {
        CocoaError(
            .coderInvalidValue, userInfo: [NSLocalizedDescriptionKey: "\(subject) cannot be written into an archive."])
    }
}
