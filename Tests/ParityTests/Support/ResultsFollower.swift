import CoreData
import Testing

/// A delegate that updates a list like a table view: deletions by the index paths before the changes, insertions by those after
/// them.
final class ResultsFollower: NSObject, NSFetchedResultsControllerDelegate {
    struct Section {
        var name: String
        var objects: [NSManagedObject]
    }

    private(set) var sections: [Section] = []
    /// The changes reported since the log was last taken, as text.
    private(set) var log: [String] = []
    private var deletedSections: [Int] = []
    private var insertedSections: [(Int, String)] = []
    private var deletions: [(IndexPath, NSManagedObject)] = []
    private var insertions: [(IndexPath, NSManagedObject)] = []
    private var updates: [(IndexPath, IndexPath?, NSManagedObject)] = []

    /// Copies the results of a controller.
    func begin(with controller: NSFetchedResultsController<NSManagedObject>) {
        sections = Self.sections(of: controller)
        log = []
    }

    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    static func sections(of controller: NSFetchedResultsController<NSManagedObject>) -> [Section] {
        (controller.sections ?? []).map { section in
            Section(name: section.name, objects: (section.objects ?? []).compactMap { $0 as? NSManagedObject })
        }
    }

    // MARK: - The delegate's methods

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        log.append("will")
        (deletedSections, insertedSections, deletions, insertions, updates) = ([], [], [], [], [])
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        #expect(deletions.isEmpty && insertions.isEmpty && updates.isEmpty, "Sections are reported before objects.")
        switch type {
        case .delete:
            log.append("delete section \(sectionIndex) \(sectionInfo.name)")
            deletedSections.append(sectionIndex)
        case .insert:
            log.append("insert section \(sectionIndex) \(sectionInfo.name)")
            insertedSections.append((sectionIndex, sectionInfo.name))
        default: Issue.record("A section can only be inserted or deleted.")
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else {
            Issue.record("\(anObject) is not a managed object.")
            return
        }
        func text(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "-" }
        let kind = [1: "insert", 2: "delete", 3: "move", 4: "update"][type.rawValue] ?? "?"
        log.append("\(kind) \(text(indexPath)) \(text(newIndexPath))")
        switch (type, indexPath, newIndexPath) {
        case (.insert, nil, let new?): insertions.append((new, object))
        case (.delete, let old?, nil): deletions.append((old, object))
        case (.move, let old?, let new?):
            deletions.append((old, object))
            insertions.append((new, object))
        case (.update, let old?, let new): updates.append((old, new, object))
        default: Issue.record("\(kind) has the paths \(text(indexPath)) and \(text(newIndexPath)).")
        }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        log.append("did")
        for (old, _, object) in updates { #expect(sections[old.section].objects[old.item] === object) }
        for (old, object) in deletions.sorted(by: { $0.0 > $1.0 }) {
            #expect(sections[old.section].objects.remove(at: old.item) === object)
        }
        for index in deletedSections.sorted(by: >) {
            let section = sections.remove(at: index)
            #expect(section.objects.isEmpty, "A removed section has no remaining objects.")
        }
        for (index, name) in insertedSections.sorted(by: { $0.0 < $1.0 }) {
            sections.insert(Section(name: name, objects: []), at: index)
        }
        for (new, object) in insertions.sorted(by: { $0.0 < $1.0 }) {
            sections[new.section].objects.insert(object, at: new.item)
        }
        for case (_, let new?, let object) in updates { #expect(sections[new.section].objects[new.item] === object) }
    }
}

/// A controller of notes whose rank is below 5, a section for each rank, and a delegate that follows it.
func notesByRank(
    in context: NSManagedObjectContext, sections: Bool = true, limit: Int = 0, where predicate: String = "rank < 5"
) throws -> (controller: NSFetchedResultsController<NSManagedObject>, follower: ResultsFollower) {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.predicate = NSPredicate(format: predicate)
    request.fetchLimit = limit
    request.sortDescriptors = [
        NSSortDescriptor(key: "rank", ascending: true), NSSortDescriptor(key: "title", ascending: true),
    ]
    let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections ? "rank" : nil,
        cacheName: nil)
    let follower = ResultsFollower()
    controller.delegate = follower
    try controller.performFetch()
    follower.begin(with: controller)
    return (controller, follower)
}
