import Foundation

/// Which destination instances were created for which source instances: the association tables of a migration.
///
/// Source instances are represented by their IDs, so that their values can be released. Memory: some 200 bytes for each
/// association.
struct MigrationAssociations {
    private struct Link {
        let mapping: String
        let source: NSManagedObjectID
        let destination: NSManagedObject
    }

    private var links: [Link] = []
    private var bySource: [NSManagedObjectID: [Int]] = [:]
    private var byDestination: [ObjectIdentifier: [Int]] = [:]
    private var byMapping: [String: [Int]] = [:]

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        let link = Link(mapping: mapping, source: source.objectID, destination: destination)
        bySource[link.source, default: []].append(links.count)
        byDestination[ObjectIdentifier(destination), default: []].append(links.count)
        byMapping[mapping, default: []].append(links.count)
        links.append(link)
    }

    mutating func removeAll() { self = MigrationAssociations() }

    /// The destination instances of a mapping, each once, in the order of their association.
    func destinations(mapping: String) -> [NSManagedObject] {
        var met: Set<ObjectIdentifier> = []
        return (byMapping[mapping] ?? []).map { links[$0].destination }.filter {
            met.insert(ObjectIdentifier($0)).inserted
        }
    }

    /// The source instances of a mapping, each once, in the order of their association.
    func sources(mapping: String) -> [NSManagedObjectID] {
        var met: Set<NSManagedObjectID> = []
        return (byMapping[mapping] ?? []).map { links[$0].source }.filter { met.insert($0).inserted }
    }

    /// The destination instances of a source instance, of one mapping or of all.
    func destinations(of source: NSManagedObjectID, mapping: String?) -> [NSManagedObject] {
        (bySource[source] ?? []).map { links[$0] }.filter { mapping == nil || $0.mapping == mapping }.map(\.destination)
    }

    /// The source instances of a destination instance of a mapping.
    func sources(of destination: NSManagedObject, mapping: String) -> [NSManagedObjectID] {
        (byDestination[ObjectIdentifier(destination)] ?? []).map { links[$0] }.filter { $0.mapping == mapping }
            .map(\.source)
    }
}
