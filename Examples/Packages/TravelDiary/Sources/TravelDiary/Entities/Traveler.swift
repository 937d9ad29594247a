import CoreData
import Foundation

/// A person who travels.
@objc(Traveler)
public class Traveler: Record {
    @NSManaged public var firstName, lastName: String?
    @NSManaged public var email: String?
    @NSManaged public var trips: NSSet?
    @NSManaged public var expenses: NSSet?

    @objc public dynamic var displayName: String {
        var components = PersonNameComponents()
        components.givenName = firstName
        components.familyName = lastName
        return [firstName, lastName].compactMap { $0 }.joined(separator: " ")
    }

    @objc class func keyPathsForValuesAffectingDisplayName() -> Set<String> {
        [#keyPath(Traveler.firstName), #keyPath(Traveler.lastName)]
    }

    /// The sum of the expenses that the traveler has paid on a trip.
    public func paid(on trip: Trip) -> NSDecimalNumber {
        let own = expenses?.filtered(using: NSPredicate(format: "%K == %@", #keyPath(Expense.trip), trip)) ?? []
        return own.reduce(NSDecimalNumber.zero) { sum, expense in
            guard let amount = (expense as? Expense)?.amount else { return sum }
            return sum.adding(amount)
        }
    }
}

extension Traveler {
    @objc(addTripsObject:)
    @NSManaged public func addToTrips(_ value: Trip)

    @objc(removeTripsObject:)
    @NSManaged public func removeFromTrips(_ value: Trip)

    @objc(addTrips:)
    @NSManaged public func addToTrips(_ values: NSSet)

    @objc(removeTrips:)
    @NSManaged public func removeFromTrips(_ values: NSSet)
}
