import Foundation

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
        self.init(keyPath: keyPath, order: SortDescriptor(path)) { $0[keyPath: keyPath] }
    }

    fileprivate init(by keyPath: KeyPath<Element, String?>) {
        let path = unsafeBitCast(keyPath, to: (any KeyPath<Element, String?> & Sendable).self)
        self.init(keyPath: keyPath, order: SortDescriptor(path)) { $0[keyPath: keyPath] ?? "" }
    }
}
