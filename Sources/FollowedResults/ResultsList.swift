import Foundation
import ManagedObjects

/// The result of a fetch: objects in order, divided into sections.
struct ResultsList {
    struct Section: Equatable {
        let name: SectionName
        /// The positions of the section's objects in the list.
        let range: Range<Int>
    }

    let objects: ResultsObjects
    let sections: [Section]
    private let search = PositionSearch()

    /// A list whose sections are known.
    init(_ objects: ResultsObjects, sections: [Section]) {
        self.objects = objects
        self.sections = sections
    }

    /// Divides objects into sections, reading each object's section name.
    ///
    /// - Throws: Code 134060 if the objects of a section are not adjacent, or have no such key path.
    init(_ objects: [NSManagedObject], named naming: SectionNaming) throws {
        var runs = SectionRuns()
        if let first = objects.first { try naming.check(first) }
        if naming.keyPath == nil {
            runs.append(SectionName(""), count: objects.count)
        } else {
            for object in objects { runs.append(naming.name(of: object), count: 1) }
        }
        self.init(ResultsObjects(objects), sections: try runs.sections(named: naming))
    }

    /// The index of the section that contains a position.
    func sectionIndex(of position: Int) -> Int {
        partitioningIndex(in: 0..<sections.count) { sections[$0].range.upperBound > position }
    }

    /// The path of section and item of a position.
    func indexPath(of position: Int) -> IndexPath {
        let section = sectionIndex(of: position)
        return IndexPath(item: position - sections[section].range.lowerBound, section: section)
    }

    /// The position at a path of section and item; nil if there is none.
    func position(at indexPath: IndexPath) -> Int? {
        guard indexPath.count == 2, sections.indices.contains(indexPath.section) else { return nil }
        let range = sections[indexPath.section].range
        return (0..<range.count).contains(indexPath.item) ? range.lowerBound + indexPath.item : nil
    }

    /// The position of an object; nil if the list does not contain it. See ``PositionSearch`` for the cost.
    func position(of object: NSManagedObject) -> Int? { search.position(of: object, in: objects) }

    /// The positions of the objects of the list that are in a set, ascending. Cost: linear in the length of the list.
    func positions(of sought: Set<ObjectIdentifier>) -> [Int] { objects.positions(of: sought) }
}

/// Finds positions of objects in one list.
///
/// A program may ask for one position before the list changes, or for all. One is found fastest by a scan, which reads addresses
/// only. After four scans of the whole list an index is made, so that n look-ups cost n steps instead of n squared.
final class PositionSearch {
    private static let scanLimit = 4
    /// The number of objects that were compared or added to the index.
    private(set) var stepCount = 0
    private var positions: [ObjectIdentifier: Int]?

    func position(of object: NSManagedObject, in objects: ResultsObjects) -> Int? {
        if let positions { return positions[ObjectIdentifier(object)] }
        guard stepCount < objects.count * Self.scanLimit else {
            // The first of equal ones, as in a scan.
            let index = Dictionary(
                objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
            stepCount += objects.count
            positions = index
            return index[ObjectIdentifier(object)]
        }
        let found = objects.position(of: object)
        stepCount += (found ?? objects.count - 1) + 1
        return found
    }
}

/// Collects the sections of objects that are passed in order.
struct SectionRuns {
    private var runs: [(name: SectionName, count: Int)] = []

    /// Appends a number of objects with the same section name.
    mutating func append(_ name: SectionName, count: Int) {
        if let last = runs.indices.last, runs[last].name == name {
            runs[last].count += count
        } else {
            runs.append((name, count))
        }
    }

    /// The sections; each name occurs once.
    ///
    /// - Throws: Code 134060 if a name occurs again after another one.
    func sections(named naming: SectionNaming) throws -> [ResultsList.Section] {
        var names = Set<SectionName>(minimumCapacity: runs.count)
        var start = 0
        return try runs.map { name, count in
            guard names.insert(name).inserted else { throw naming.isOutOfOrder(name, at: start) }
            defer { start += count }
            return ResultsList.Section(name: name, range: start..<(start + count))
        }
    }
}

/// The first index for which a condition holds. The condition must hold for all indexes after the first one for which
/// it holds.
func partitioningIndex(in range: Range<Int>, where holds: (Int) throws -> Bool) rethrows -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
        let middle = low + (high - low) / 2
        if try holds(middle) { high = middle } else { low = middle + 1 }
    }
    return low
}
