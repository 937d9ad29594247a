import Foundation

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
