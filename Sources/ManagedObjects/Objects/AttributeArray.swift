import Foundation

/// The array that ``NSManagedObject/mutableArrayValue(forKey:)`` returns: it reads the array of an attribute, and each change sets the
/// attribute to an array with the change, so that the context notices it.
final class AttributeArray: NSMutableArray {
    private var owner: NSManagedObject?
    private var key = ""

    convenience init(owner: NSManagedObject, key: String) {
        self.init(capacity: 0)
        self.owner = owner
        self.key = key
    }

    override init(capacity numItems: Int) { super.init(capacity: numItems) }

    required init(objects: UnsafePointer<AnyObject>?, count: Int) { super.init(objects: objects, count: count) }

    required init(arrayLiteral elements: Any...) { super.init(capacity: elements.count) }

    required init?(coder: NSCoder) { nil }

    private var elements: [Any] {
        get {
            switch owner?.value(forKey: key) {
            case let array as NSArray: (0..<array.count).map { array.object(at: $0) }
            case let array as [Any]: array
            default: []
            }
        }
        set { owner?.setValue(newValue, forKey: key) }
    }

    override var count: Int { elements.count }

    override func object(at index: Int) -> Any { elements[index] }

    override func add(_ object: Any) { elements.append(object) }

    override func insert(_ object: Any, at index: Int) { elements.insert(object, at: index) }

    override func removeObject(at index: Int) { elements.remove(at: index) }

    override func removeLastObject() { elements.removeLast() }

    override func replaceObject(at index: Int, with object: Any) { elements[index] = object }
}
