import Dispatch
import Foundation

// What Foundation has on Apple's platforms and lacks elsewhere, or has without what Core Data needs. Reading begins here.
//
// - `Predicates`: predicates, expressions and sort descriptors, whose texts and evaluation are the module `PredicateLanguage`, and the
//   names of key paths (`KeyPathRegistry`), which they are created from. Key-value coding along paths: `KeyedValue`.
// - `ValueTransformer` and its registry, and `UndoManager`.
// - `KeyValueObserving`: the names of key-value observing, and the observation of a `Progress`.
// - `ProgramClasses`: the classes of the program by a name without a module, as Objective-C's runtime finds them.
// - `LocalPort`: ports within the process.
// - This file: names, the equality of queues, and the folders of groups.
//
// Nothing here knows managed objects: an object in a predicate is a `PredicateSubject`, one with keys a `KeyValueCoded`.

/// The iterator of Foundation's collections, under the name that it has on Apple's platforms.
public typealias NSFastEnumerationIterator = NSEnumerator.Iterator

/// Runs a block. Outside Apple's platforms there is no autorelease pool to drain: objects are released with their last
/// reference.
public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

/// The number of nanoseconds in a second, which outside Apple's platforms the module Dispatch does not declare.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000

extension Set {
    /// The elements of a relationship's set, as in `note.tags.map(Set<Tag>.init)`. Cost: each element is cast.
    ///
    /// An element of another type stops the program, as a forced cast of the set does.
    public init(_ set: NSSet) {
        self.init(minimumCapacity: set.count)
        for element in set {
            insert(element as! Element)  // because an element that is skipped would be lost in silence
        }
    }
}

extension UserDefaults {
    /// The value of a key: `object(forKey:)`. Data layers keep the position in the history there.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Sets the value of a key, or removes it: `set(_:forKey:)`.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}

extension FileManager {
    /// The folder that the programs of a group share: one with the group's name in the user's folder for application data, because
    /// there are no groups outside Apple's platforms. It is created if it does not exist.
    ///
    /// - Returns: nil if the name cannot be that of a folder, or if the folder cannot be created.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        let isName =
            !["", ".", ".."].contains(groupIdentifier) && !groupIdentifier.contains { $0 == "/" || $0 == "\0" }
        guard isName, let folder = urls(for: .applicationSupportDirectory, in: .userDomainMask).first else {
            return nil
        }
        let url = folder.appendingPathComponent(groupIdentifier, isDirectory: true)
        do {
            try createDirectory(at: url, withIntermediateDirectories: true)
            return url
        } catch {
            return nil
        }
    }
}

// On Apple's platforms queues, groups and semaphores are objects of Foundation, which are equal if they are identical: data layers
// compare the queue of an observer with their own, and keep observers by queue.
extension DispatchObject: @retroactive Equatable {
    public static func == (first: DispatchObject, second: DispatchObject) -> Bool { first === second }
}

extension DispatchObject: @retroactive Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
