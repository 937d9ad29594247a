import CoreData

extension Book {
    /// The chapters in their order.
    public var orderedChapters: [Chapter] { chapters?.array as? [Chapter] ?? [] }

    /// The fraction that has been read, from 0 to 1.
    public var progress: Double {
        let chapters = orderedChapters
        guard !chapters.isEmpty else { return 0 }
        return Double(chapters.filter(\.isRead).count) / Double(chapters.count)
    }
}

extension Author {
    public var sortedPublications: [Publication] {
        (publications as? Set<Publication> ?? []).sorted { ($0.title ?? "") < ($1.title ?? "") }
    }
}
