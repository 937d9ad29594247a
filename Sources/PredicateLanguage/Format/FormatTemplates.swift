import Foundation

/// The templates of the formats that a program has used: most programs use few formats, many times.
final class FormatTemplates: @unchecked Sendable {  // because a lock guards its state
    static let shared = FormatTemplates()

    private let lock = NSLock()
    /// The templates by formats; nil for a format that is parsed for each use.
    private var known: [String: FormatTemplate?] = [:]
    private static let countLimit = 500
    /// The maximum length of a format with a template, in bytes. A longer format probably contains values and is used once.
    private static let lengthLimit = 1000

    /// The tree of a format with arguments; nil if it must be parsed with them. The second call for a format costs a lookup and
    /// a copy of the tree.
    func tree(of format: String, arguments: [Any?]) -> PredicateNode? {
        if let found = lock.withLock({ known[format] }) {
            guard let found else { return nil }
            if let tree = found.tree(with: arguments) { return tree }
        }
        guard format.utf8.count <= Self.lengthLimit else { return nil }
        let template = FormatTemplate(format, arguments: arguments)
        lock.withLock {
            if known.count >= Self.countLimit { known.removeAll() }
            known[format] = .some(template)
        }
        return template?.tree(with: arguments)
    }
}
