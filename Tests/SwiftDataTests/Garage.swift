import SwiftData

// Models without macros, which need a trait.

/// A model with subclasses, of which other files cannot set all properties.
class Vehicle: PersistentModel {
    class var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Vehicle.name), .init(name: "weight", keypath: \Vehicle.weight),
            .init(name: "garage", keypath: \Vehicle.garage),
        ]
    }

    var persistentBackingData: any BackingData<Vehicle>
    required init(backingData: any BackingData<Vehicle>) { persistentBackingData = backingData }

    fileprivate(set) var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var weight: Int {
        get { getValue(forKey: \.weight) }
        set { setValue(forKey: \.weight, to: newValue) }
    }
    var garage: Garage? {
        get { getValue(forKey: \.garage) }
        set { setValue(forKey: \.garage, to: newValue) }
    }

    /// Equal to the stored one for most values.
    var cappedWeight: Int { min(weight, 100) }
    var shownName: String { name.isEmpty ? "-" : name }
    /// Equal to the stored one for all values, and not to be told from others.
    var label: String { name }
}

final class Car: Vehicle {
    override class var schemaMetadata: [Schema.PropertyMetadata] {
        super.schemaMetadata + [.init(name: "doors", keypath: \Car.doors)]
    }

    var doors: Int {
        get { getValue(forKey: \.doors) }
        set { setValue(forKey: \.doors, to: newValue) }
    }
    var shownDoors: Int { max(doors, 2) }
}

final class Garage: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "city", keypath: \Garage.city), .init(name: "first", keypath: \Garage.first),
            .init(name: "car", keypath: \Garage.car),
        ]
    }

    var persistentBackingData: any BackingData<Garage>
    init(backingData: any BackingData<Garage>) { persistentBackingData = backingData }

    var city: String { getValue(forKey: \.city) }
    var first: Vehicle? { getValue(forKey: \.first) }
    var car: Car { getValue(forKey: \.car) }
}
