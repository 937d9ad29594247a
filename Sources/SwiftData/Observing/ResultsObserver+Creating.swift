import Foundation
import Synchronization

extension ResultsObserver where SectionTitle == Never {
    /// Observes the models that a descriptor selects in a context.
    ///
    /// - Throws: The errors of ``ModelContext/fetch(_:)``, as the other initialisers do.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, modelContext, isolation)
    }

    /// Observes the models that a descriptor selects in a container, by a context of its own.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, ModelContext(modelContainer), isolation)
    }

    /// Observes the models that a predicate selects in a context.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, modelContext, isolation)
    }

    /// Observes the models that a predicate selects in a container, by a context of its own.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(descriptor, nil, ModelContext(modelContainer), isolation)
    }
}

extension ResultsObserver where SectionTitle == String {
    /// Observes the models that a descriptor selects in a context, in sections by a text.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, Section(by: sectionBy), modelContext, isolation)
    }

    /// Observes the models that a descriptor selects in a container, by a context of its own, in sections by a text.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, Section(by: sectionBy), ModelContext(modelContainer), isolation)
    }

    /// Observes the models that a predicate selects in a context, in sections by a text.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(descriptor, Section(by: sectionBy), modelContext, isolation)
    }

    /// Observes the models that a predicate selects in a container, by a context of its own, in sections by a text.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(descriptor, Section(by: sectionBy), ModelContext(modelContainer), isolation)
    }

    /// Observes the models that a descriptor selects in a context, in sections by a text that may be nil; the title is empty then.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, Section(by: sectionBy), modelContext, isolation)
    }

    /// Observes the models that a descriptor selects in a container, by a context of its own, in sections by a text that may be nil; the title is empty then.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, Section(by: sectionBy), ModelContext(modelContainer), isolation)
    }

    /// Observes the models that a predicate selects in a context, in sections by a text that may be nil; the title is empty then.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(descriptor, Section(by: sectionBy), modelContext, isolation)
    }

    /// Observes the models that a predicate selects in a container, by a context of its own, in sections by a text that may be nil; the title is empty then.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(descriptor, Section(by: sectionBy), ModelContext(modelContainer), isolation)
    }
}

extension ResultsObserver.Section where SectionTitle == String {
    fileprivate init(by keyPath: KeyPath<Element, String>) {
        // Sound because key paths to properties of classes are immutable; the type only does not say so.
        let path = unsafeBitCast(keyPath, to: (any KeyPath<Element, String> & Sendable).self)
        self.init(keyPath: keyPath, order: [SortDescriptor(path)]) { $0[keyPath: keyPath] }
    }

    fileprivate init(by keyPath: KeyPath<Element, String?>) {
        let path = unsafeBitCast(keyPath, to: (any KeyPath<Element, String?> & Sendable).self)
        self.init(keyPath: keyPath, order: [SortDescriptor(path)]) { $0[keyPath: keyPath] ?? "" }
    }
}

/// What announces that it is out of date.
protocol ChangingResults: AnyObject {
    func announceChange()
}

/// Whether results are out of date. Noted by any thread, announced where the observer was made.
final class Staleness: @unchecked Sendable {  // because a lock guards the flag, and the results are set only once
    weak var results: (any ChangingResults)?
    private let isolation: (any Actor)?
    private let isStale = Mutex(false)

    init(_ isolation: (any Actor)?) { self.isolation = isolation }

    /// Announces the first of several changes.
    func note(isLocal: Bool) {
        let isFirst = isStale.withLock { isStale in
            defer { isStale = true }
            return !isStale
        }
        guard isFirst else { return }
        guard !isLocal, let isolation else { return announce() }
        Task { await announce(in: isolation) }
    }

    private func announce(in isolation: isolated any Actor) { announce() }

    private func announce() { results?.announceChange() }

    /// Whether the results are out of date, for a fetch that follows.
    func take() -> Bool {
        isStale.withLock { isStale in
            defer { isStale = false }
            return isStale
        }
    }
}
