import Foundation

/// Writes objects as dictionaries by key-value coding, for the app's export.
public enum TripArchive {
    /// The attributes of an object that are not nil. Values without a form in JSON become text.
    public static func dictionary(_ object: NSManagedObject) -> [String: Any] {
        var result: [String: Any] = [:]
        for (name, attribute) in object.entity.attributesByName {
            guard let value = object.value(forKey: name) else { continue }
            switch attribute.attributeType {
            case .dateAttributeType: result[name] = (value as? Date)?.timeIntervalSinceReferenceDate
            case .decimalAttributeType: result[name] = (value as? NSDecimalNumber)?.stringValue
            case .binaryDataAttributeType: result[name] = (value as? Data)?.base64EncodedString()
            case .transformableAttributeType: continue
            default: result[name] = value
            }
        }
        return result
    }

    /// A trip with its stops and tags.
    public static func archive(_ trip: Trip) -> [String: Any] {
        var result = dictionary(trip)
        result[#keyPath(Trip.stops)] = trip.orderedStops.map(dictionary)
        result[#keyPath(Trip.tags)] = trip.tagNames
        result["travelers"] = trip.sortedTravelers.map(\.displayName)
        return result
    }

    /// Sets the attributes of an object from a dictionary; keys that the entity does not have are ignored.
    public static func apply(_ values: [String: Any], to object: NSManagedObject) {
        for (name, attribute) in object.entity.attributesByName {
            guard let value = values[name] else { continue }
            switch (attribute.attributeType, value) {
            case (.dateAttributeType, let seconds as Double):
                object.setValue(Date(timeIntervalSinceReferenceDate: seconds), forKey: name)
            case (.decimalAttributeType, let text as String):
                object.setValue(NSDecimalNumber(string: text), forKey: name)
            case (.binaryDataAttributeType, let text as String):
                object.setValue(Data(base64Encoded: text), forKey: name)
            case (.transformableAttributeType, _): continue
            default: object.setValue(value, forKey: name)
            }
        }
    }
}
