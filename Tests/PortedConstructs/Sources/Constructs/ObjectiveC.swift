import CoreData
import Foundation

@objcMembers class Shelf: NSObject {
    @objc var label = ""
    @objc func clear() { label = "" }
}

extension Book {
    @objc var initial: String { String(title?.prefix(1) ?? "") }
}

@objc protocol ShelfDelegate {
    @objc optional func shelfDidClear(_ shelf: Shelf)
    @objc optional var isLocked: Bool { get }
}

func keys() -> [String] {
    [
        #keyPath(Book.title),
        #keyPath(Book.author.name),
    ]
}

func order() -> NSSortDescriptor {
    NSSortDescriptor(key: "title", ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))
}

func doesClear(_ object: NSObject) -> Bool {
    object.responds(to: Selector(("clear")))
}

class CheckedBook: NSManagedObject {
    func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
}
