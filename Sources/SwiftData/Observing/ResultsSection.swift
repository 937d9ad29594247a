/// The models of a ``ResultsObserver`` that have the same title.
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Identifiable {
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public typealias ID = SectionTitle

    /// The value that the models have in common.
    public let title: SectionTitle
    private let models: ArraySlice<Element>

    /// The same as ``title``.
    public var id: SectionTitle { title }
    public var startIndex: Int { 0 }
    public var endIndex: Int { models.count }

    init(title: SectionTitle, models: ArraySlice<Element>) { (self.title, self.models) = (title, models) }

    public subscript(position: Int) -> Element {
        precondition(models.indices.contains(models.startIndex + position), "The section has no model \(position).")
        return models[models.startIndex + position]
    }
}

/// The sections of a ``ResultsObserver``, in the order of their first models.
public struct SectionedResults<Model: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection {
    public typealias Element = ResultsSection<Model, SectionTitle>
    public typealias Index = Int
    public typealias Indices = Range<Int>

    private let sections: [Element]
    private let positions: [SectionTitle: Int]

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.count }

    /// Groups models. Those with the same title follow each other, because the title is the first sort descriptor; where the store
    /// sorts titles as equal that are not, the models of one title may be apart, and are one section all the same.
    init(_ models: [Model], title: (Model) -> SectionTitle) {
        var titles: [SectionTitle] = []
        var groups: [SectionTitle: [Model]] = [:]
        for model in models {
            let title = title(model)
            if groups[title] == nil { titles.append(title) }
            groups[title, default: []].append(model)
        }
        sections = titles.map { ResultsSection(title: $0, models: (groups[$0] ?? [])[...]) }
        positions = Dictionary(titles.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    public subscript(position: Int) -> Element { sections[position] }

    /// The section with a title; nil if there is none. Cost: one look-up.
    public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Model, SectionTitle>? {
        positions[title].map { sections[$0] }
    }

    /// The titles, in the order of the sections.
    public var sectionTitles: [SectionTitle] { sections.map(\.title) }
}
