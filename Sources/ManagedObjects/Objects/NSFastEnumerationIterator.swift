import Foundation

/// The iterator of Foundation's collections, under the name that it has on Apple's platforms.
public typealias NSFastEnumerationIterator = NSEnumerator.Iterator
