import Foundation

/// A section of fetched results.
public protocol NSFetchedResultsSectionInfo {
    /// The value of the section key path as text; empty if the value is nil or there is no key path.
    var name: String { get }
    /// The title of the section in an index; see `NSFetchedResultsController.sectionIndexTitle(forSectionName:)`.
    var indexTitle: String? { get }
    /// The number of objects in the section.
    var numberOfObjects: Int { get }
    /// The section's objects, in order.
    var objects: [Any]? { get }
}

/// A section of an immutable list.
final class FetchedSection: NSFetchedResultsSectionInfo {
    private let list: ResultsList
    private let section: ResultsList.Section
    private weak var results: FetchedResults?

    init(_ section: ResultsList.Section, of list: ResultsList, results: FetchedResults) {
        self.list = list
        self.section = section
        self.results = results
    }

    var name: String { section.name }
    var indexTitle: String? { results?.indexTitle(forSectionName: name) }
    var numberOfObjects: Int { section.range.count }
    var objects: [Any]? { Array(list.objects[section.range]) }
}
