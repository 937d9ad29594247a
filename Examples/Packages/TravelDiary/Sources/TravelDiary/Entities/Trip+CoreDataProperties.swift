//
//  Trip+CoreDataProperties.swift
//  TravelDiary
//

import CoreData
import Foundation

extension Trip {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Trip> {
        return NSFetchRequest<Trip>(entityName: "Trip")
    }

    @NSManaged public var budget: NSDecimalNumber?
    @NSManaged public var coverColor: CoverColor?
    @NSManaged public var endDate: Date?
    @NSManaged public var isFavorite: Bool
    /// Never empty in a store: see `validateName()`.
    @NSManaged public var name: String
    @NSManaged public var startDate: Date?
    @NSManaged public var statusRawValue: Int16
    @NSManaged public var summary: String?
    @NSManaged public var expenses: NSSet?
    @NSManaged public var stops: NSOrderedSet?
    @NSManaged public var tags: NSSet?
    @NSManaged public var travelers: NSSet?

}

// MARK: Generated accessors for expenses
extension Trip {

    @objc(addExpensesObject:)
    @NSManaged public func addToExpenses(_ value: Expense)

    @objc(removeExpensesObject:)
    @NSManaged public func removeFromExpenses(_ value: Expense)

    @objc(addExpenses:)
    @NSManaged public func addToExpenses(_ values: NSSet)

    @objc(removeExpenses:)
    @NSManaged public func removeFromExpenses(_ values: NSSet)

}

// MARK: Generated accessors for stops
extension Trip {

    @objc(insertObject:inStopsAtIndex:)
    @NSManaged public func insertIntoStops(_ value: Stop, at idx: Int)

    @objc(removeObjectFromStopsAtIndex:)
    @NSManaged public func removeFromStops(at idx: Int)

    @objc(insertStops:atIndexes:)
    @NSManaged public func insertIntoStops(_ values: [Stop], at indexes: NSIndexSet)

    @objc(removeStopsAtIndexes:)
    @NSManaged public func removeFromStops(at indexes: NSIndexSet)

    @objc(replaceObjectInStopsAtIndex:withObject:)
    @NSManaged public func replaceStops(at idx: Int, with value: Stop)

    @objc(replaceStopsAtIndexes:withStops:)
    @NSManaged public func replaceStops(at indexes: NSIndexSet, with values: [Stop])

    @objc(addStopsObject:)
    @NSManaged public func addToStops(_ value: Stop)

    @objc(removeStopsObject:)
    @NSManaged public func removeFromStops(_ value: Stop)

    @objc(addStops:)
    @NSManaged public func addToStops(_ values: NSOrderedSet)

    @objc(removeStops:)
    @NSManaged public func removeFromStops(_ values: NSOrderedSet)

}

// MARK: Generated accessors for tags
extension Trip {

    @objc(addTagsObject:)
    @NSManaged public func addToTags(_ value: Tag)

    @objc(removeTagsObject:)
    @NSManaged public func removeFromTags(_ value: Tag)

    @objc(addTags:)
    @NSManaged public func addToTags(_ values: NSSet)

    @objc(removeTags:)
    @NSManaged public func removeFromTags(_ values: NSSet)

}

// MARK: Generated accessors for travelers
extension Trip {

    @objc(addTravelersObject:)
    @NSManaged public func addToTravelers(_ value: Traveler)

    @objc(removeTravelersObject:)
    @NSManaged public func removeFromTravelers(_ value: Traveler)

    @objc(addTravelers:)
    @NSManaged public func addToTravelers(_ values: NSSet)

    @objc(removeTravelers:)
    @NSManaged public func removeFromTravelers(_ values: NSSet)

}

extension Trip: Identifiable {
    public var id: NSManagedObjectID { objectID }
}
