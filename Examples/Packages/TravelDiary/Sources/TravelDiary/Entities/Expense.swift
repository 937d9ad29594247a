import CoreData
import Foundation

/// An expense on a trip, which a traveler has paid.
@objc(Expense)
public class Expense: Record {
    public enum Category: String, CaseIterable {
        case food, lodging, transport, fun, other
    }

    @NSManaged public var amount: NSDecimalNumber?
    @NSManaged private var categoryRawValue: String?
    @NSManaged public var currency: String
    @NSManaged public var note: String?
    @NSManaged public var paidAt: Date?
    @NSManaged public var payer: Traveler?
    @NSManaged public var trip: Trip?

    /// The category; `other` for one that a later version of the app has written.
    public var category: Category {
        get { categoryRawValue.flatMap(Category.init) ?? .other }
        set { categoryRawValue = newValue.rawValue }
    }

    static let categoryKey = #keyPath(Expense.categoryRawValue)

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Expense> {
        NSFetchRequest<Expense>(entityName: "Expense")
    }
}

extension Expense {
    override public func willChangeValue(forKey key: String) {
        super.willChangeValue(forKey: key)
        if key == #keyPath(Expense.amount) || key == #keyPath(Expense.trip) { trip?.expensesDidChange() }
    }

    override public func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        if key == #keyPath(Expense.amount) || key == #keyPath(Expense.trip) { trip?.expensesDidChange() }
    }

    override public func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: #keyPath(Expense.paidAt))
    }
}
