import CoreData
import Foundation

// The classes that the other files use. Nothing in this file is refused.

final class Book: NSManagedObject {
    @NSManaged var title: String?
    @NSManaged var author: Author?
}

class Author: NSManagedObject {
    @NSManaged var name: String?
    @NSManaged var books: NSSet?

    func printName() { print(name ?? "") }
}

final class UpperCase: ValueTransformer {}

/// A new object without a context, as the initial value of a variable.
let placeholder = Book()
