import GraphDocuments

/// A class whose instances can be created and filled from documents, property by property.
///
///     final class Person: Mapped {
///         var name = ""
///         var address: String?
///         var children: [Person] = []
///         init() {}
///
///         class var mappedProperties: [MappedProperty] {
///             [
///                 MappedProperty("name", \Person.name),
///                 MappedProperty("address", \Person.address, mapping: PropertyMapping("kAddress")),
///                 MappedProperty("children", \Person.children),
///             ]
///         }
///     }
///
///     let person = try PlainImporter().make(Person.self, from: json)
///     try PlainImporter().populate(person, from: later)      // properties absent in `later` are not changed
///     let data = try PlainExporter().encoded(person)
///
/// A subclass that adds properties overrides the list with `super.mappedProperties + […]`. Structures do not need this
/// protocol: they can be `Codable`.
public protocol Mapped: AnyObject {
    /// Creates an instance that is filled afterwards.
    init()
    /// The properties in documents, in the order in which they are written.
    static var mappedProperties: [MappedProperty] { get }
}
