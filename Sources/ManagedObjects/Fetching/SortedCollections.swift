import Foundation
import FoundationAdditions

// Foundation's functions call a descriptor for each comparison, which reads both values by key-value coding. These overloads read
// each value once. Swift prefers them for descriptors of this module's class.

extension NSArray {
    /// The elements sorted by the descriptors. Equal elements keep their order. Each value is read once.
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] {
        NSSortDescriptor.sorted(map { $0 }, by: sortDescriptors)
            ?? sortedArray(using: sortDescriptors as [Foundation.NSSortDescriptor])
    }
}

extension NSMutableArray {
    /// Sorts the elements by the descriptors. Equal elements keep their order. Each value is read once.
    public func sort(using sortDescriptors: [NSSortDescriptor]) {
        if let sorted = NSSortDescriptor.sorted(map { $0 }, by: sortDescriptors) {
            setArray(sorted)
        } else {
            sort(using: sortDescriptors as [Foundation.NSSortDescriptor])
        }
    }
}

extension NSSet {
    /// The members sorted by the descriptors. Each value is read once.
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] {
        NSSortDescriptor.sorted(map { $0 }, by: sortDescriptors)
            ?? sortedArray(using: sortDescriptors as [Foundation.NSSortDescriptor])
    }
}

extension NSOrderedSet {
    /// The elements sorted by the descriptors. Equal elements keep their order. Each value is read once.
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] {
        NSSortDescriptor.sorted(map { $0 }, by: sortDescriptors)
            ?? sortedArray(using: sortDescriptors as [Foundation.NSSortDescriptor])
    }
}

extension NSSortDescriptor {
    /// The sorted managed objects; nil if there are other elements, or a descriptor with a comparison of its own.
    fileprivate static func sorted(_ elements: [Any], by descriptors: [NSSortDescriptor]) -> [Any]? {
        let areKnown = descriptors.allSatisfy { descriptor in
            type(of: descriptor) == NSSortDescriptor.self && !descriptor.comparesByClosure
                && descriptor.key.map { $0 != "self" && $0 != "SELF" } == true
        }
        guard areKnown, let objects = elements as? [NSManagedObject] else { return nil }
        do {
            return try RowOrder(ofObjectsBy: descriptors).sort(objects)
        } catch {
            preconditionFailure("Objects cannot be sorted by \(descriptors): \(error)")
        }
    }
}
