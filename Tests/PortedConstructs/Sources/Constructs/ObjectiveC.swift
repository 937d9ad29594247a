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
    @objc optional func shelf(_ shelf: Shelf, didAdd book: Book)
}

final class ShelfWatch: NSObject {
    let shelf = Shelf()
    weak var delegate: ShelfDelegate?

    func add(_ book: Book) {
        shelf.clear()
        delegate?.shelf?(shelf, didAdd: book)
    }

    func observe(in context: NSManagedObjectContext) {
        context.perform { [weak self] in
            guard let strongSelf = self else { return }
            NotificationCenter.default.addObserver(
                strongSelf, selector: #selector(strongSelf.didSave(_:)), name: .NSManagedObjectContextDidSave,
                object: context)
        }
    }

    @objc func didSave(_ notification: Notification) {}

    func stop(_ reason: String) -> Never {
        NSException(name: .genericException, reason: reason, userInfo: nil).raise()
        fatalError("An exception ends the program.")
    }
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
