import Foundation

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
        // Forced, because Apple's initialiser cannot fail either, and an element that is left out would be lost in silence.
        self.init(minimumCapacity: set.count)
        for element in set { insert(element as! Element) }
    }
}

extension UserDefaults {
    /// The value of a key: `object(forKey:)`. Data layers keep the position in the history there.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Sets the value of a key, or removes it: `set(_:forKey:)`.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}
