import CoreData
import Foundation
import ManagedObjects
import Observation

/// The models that a descriptor selects, kept up to date.
///
/// ```swift
/// let observer = try ResultsObserver<Book, Never>(
///     filterBy: #Predicate { $0.isPublished }, sortBy: [SortDescriptor(\.title)], modelContext: context)
/// withObservationTracking { print(observer.results.count) } onChange: { … }
/// ```
///
/// The results change with the context, with saves of other contexts of the container, and with those of other processes. A change
/// only notes that they are out of date; ``results`` fetches again when it is read. Read it where the context is used.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable, ChangingResults {
    private let modelContext: ModelContext
    private let registrar: ObservationRegistrar
    private var descriptor: FetchDescriptor<Element>
    private let section: Section?
    private let staleness: Staleness
    private var current: FetchResultsCollection<Element>
    private var currentSections: SectionedResults<Element, SectionTitle>?
    private var registration: ChangeListeners.Registration?

    /// How the models are grouped.
    struct Section {
        let keyPath: PartialKeyPath<Element>
        /// One descriptor. In an array, because a structure that stores a `SortDescriptor` needs a metadata function that Foundation
        /// does not export on Linux: programs did not link in release builds.
        let order: [SortDescriptor<Element>]
        let title: (Element) -> SectionTitle
    }

    /// Fetches, and observes.
    ///
    /// - Throws: The errors of ``ModelContext/fetch(_:)``.
    init(
        _ descriptor: FetchDescriptor<Element>, _ section: Section?, _ context: ModelContext, _ isolation: (any Actor)?
    )
        throws
    {
        modelContext = context
        registrar = ObservationRegistrar()
        self.section = section
        self.descriptor = descriptor
        if let section { self.descriptor.sortBy = section.order + descriptor.sortBy }
        staleness = Staleness(isolation)
        current = FetchResultsCollection(count: 0) { _ in preconditionFailure("There are no results.") }
        try fetch()
        staleness.results = self
        observe()
    }

    /// Observes the changes that may change the results.
    private func observe() {
        let (entities, staleness) = (observedEntities, staleness)
        registration = modelContext.observe { change in
            if let changed = change.entities, let entities, changed.isDisjoint(with: entities) { return }
            staleness.note(isLocal: change.isLocal)
        }
    }

    /// The models, in their order.
    public var results: FetchResultsCollection<Element> {
        get {
            registrar.access(self, keyPath: \.results)
            refresh()
            return current
        }
        set { registrar.withMutation(of: self, keyPath: \.results) { current = newValue } }
    }

    /// The models by their title, in the order of the first model of each; nil if the observer has no `sectionBy`.
    public var sections: SectionedResults<Element, SectionTitle>? {
        get {
            registrar.access(self, keyPath: \.sections)
            refresh()
            return currentSections
        }
        set { registrar.withMutation(of: self, keyPath: \.sections) { currentSections = newValue } }
    }

    /// The key path of the titles.
    public var sectionBy: PartialKeyPath<Element>? { section?.keyPath }

    /// The order. The title precedes it where there are sections.
    public var sortBy: [SortDescriptor<Element>] {
        get {
            registrar.access(self, keyPath: \.sortBy)
            return section == nil ? descriptor.sortBy : Array(descriptor.sortBy.dropFirst())
        }
        set {
            registrar.withMutation(of: self, keyPath: \.sortBy) {
                descriptor.sortBy = (section?.order ?? []) + newValue
            }
            // The new order may read related models.
            observe()
            staleness.note(isLocal: true)
        }
    }

    /// Informs Observation that the results are out of date.
    func announceChange() {
        registrar.withMutation(of: self, keyPath: \.results) {}
        registrar.withMutation(of: self, keyPath: \.sections) {}
    }

    // MARK: - Fetching

    private func refresh() {
        guard staleness.take() else { return }
        do {
            try fetch()
        } catch {
            // A getter cannot throw. The results stay, and the next change fetches again.
            FileHandle.standardError.write(
                Data("SwiftData: The results of \(Element.self) could not be fetched: \(error)\n".utf8))
        }
    }

    private func fetch() throws {
        let models = try modelContext.fetch(descriptor)
        current = FetchResultsCollection(count: models.count) { models[$0] }
        currentSections = section.map { SectionedResults(models, title: $0.title) }
    }

    /// The entities whose changes may change the results: those of the class and its subclasses; nil if the predicate or the order
    /// reads related models, or cannot be examined.
    private var observedEntities: Set<String>? {
        let modelClass = ModelClass.of(Element.self)
        func staysInside(_ path: [String]) -> Bool {
            path.first.map { modelClass.property(named: $0)?.isRelationship == false } ?? true
        }
        if let predicate = descriptor.predicate {
            let translated = PredicateTranslations.shared.translation(of: predicate)
            guard translated.isComplete, (translated.condition?.keyPaths ?? []).allSatisfy(staysInside) else {
                return nil
            }
        }
        for order in descriptor.sortBy {
            guard let keyPath = order.keyPath, modelClass.property(keyPath) != nil else { return nil }
        }
        let entities = modelContext.container.coordinator.managedObjectModel.entities
        return Set(
            entities.filter { ($0.companion as? ModelClass)?.isKind(of: modelClass) == true }.compactMap(\.name))
    }
}
