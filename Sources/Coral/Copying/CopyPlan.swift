import CoreData

/// The objects that a copier would copy, and the links that it would set or omit, computed without changing anything.
public struct CopyPlan: Sendable, CustomStringConvertible {
    /// The objects that would be copied, in the order of the walk: the requested ones first.
    public internal(set) var originals: [NSManagedObjectID] = []
    /// The number of objects of each entity that would be copied.
    public internal(set) var counts: [String: Int] = [:]
    /// The number of links to objects that are not copied, for each relationship as `Entity.name`.
    package internal(set) var links: [String: Int] = [:]
    /// The number of links that would be omitted although no rule requires it.
    public internal(set) var omissionCount = 0
    /// The first hundred omissions.
    public package(set) var omissions: [CopyOmission] = []
    /// Properties, as `Entity.property`, that the copies' model does not have.
    package internal(set) var missingProperties: [String] = []

    /// The plan of a copy of no objects.
    package init() {}

    /// The numbers in one line: `12 objects (1 Note, 11 Item), 3 links, 1 omission`.
    public var summary: String {
        let entities = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        var parts = [counted(originals.count, "object") + (entities.isEmpty ? "" : " (\(entities))")]
        parts.append(counted(links.values.reduce(0, +), "link"))
        if omissionCount > 0 { parts.append(counted(omissionCount, "omission")) }
        return parts.joined(separator: ", ")
    }

    public var description: String { summary }
}
