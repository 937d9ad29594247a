import Testing

@testable import SwiftData

private protocol Named { var name: String { get } }
extension Vehicle: Named {}

@Suite("Key paths lead through stored properties, or are evaluated")
struct KeyPathComponentsTests {
    private func path(_ keyPath: AnyKeyPath, of type: any PersistentModel.Type) -> [String]? {
        ModelClass.of(type).path(of: keyPath)?.map(\.name)
    }

    @Test func `a property of the class, also one that this file cannot set`() {
        #expect(path(\Vehicle.weight, of: Vehicle.self) == ["weight"])
        #expect(path(\Vehicle.name, of: Vehicle.self) == ["name"])
        #expect(path(\Car.doors, of: Car.self) == ["doors"])
    }

    @Test func `an inherited property with the subclass as root`() {
        #expect(path(\Car.weight, of: Car.self) == ["weight"])
        #expect(path(\Car.garage, of: Car.self) == ["garage"])
        #expect(path(\Vehicle.weight, of: Car.self) == ["weight"])
    }

    @Test func `a path through relationships, optional or not`() {
        #expect(path(\Garage.first?.name, of: Garage.self) == ["first", "name"])
        #expect(path(\Garage.first!.weight, of: Garage.self) == ["first", "weight"])
        #expect(path(\Garage.first?.garage?.first?.name, of: Garage.self) == ["first", "garage", "first", "name"])
        #expect(path(\Garage.car.doors, of: Garage.self) == ["car", "doors"])
        #expect(path(\Car.garage?.city, of: Car.self) == nil, "its first part is inherited")
        #expect(path(\Vehicle.garage?.city, of: Vehicle.self) == ["garage", "city"])
    }

    @Test func `a computed property is not the stored one that it reads`() {
        for keyPath in [\Vehicle.cappedWeight, \Vehicle.shownName, \Vehicle.label] as [PartialKeyPath<Vehicle>] {
            #expect(path(keyPath, of: Vehicle.self) == nil)
        }
        for keyPath in [\Car.cappedWeight, \Car.shownName, \Car.shownDoors] as [PartialKeyPath<Car>] {
            #expect(path(keyPath, of: Car.self) == nil)
        }
        #expect(path(\Garage.first?.cappedWeight, of: Garage.self) == nil)
        #expect(path(\Garage.first?.name.count, of: Garage.self) == nil)
        #expect(path(\Vehicle.name.count, of: Vehicle.self) == nil)
        #expect(path(\Vehicle.self, of: Vehicle.self) == nil)
    }

    /// A computed property could implement the requirement as well.
    @Test func `a requirement of a protocol is not told from a computed property`() {
        func requirement<Model: Named>(of _: Model.Type) -> AnyKeyPath { \Model.name }
        #expect(path(requirement(of: Vehicle.self), of: Vehicle.self) == nil)
    }
}
