import Foundation

/// The identity of a context, as a store of one's own sees it.
public struct EditingState: Hashable, Identifiable, Sendable {
    public typealias ID = UUID
    public let id = UUID()
    public var author: String?

    init() {}
}
