import ModelFiles

/// The Swift types of properties, as Xcode generates them.
///
/// Types other than scalars are optional, even if the model requires a value: a new object does not have one yet.
struct SwiftType {
    /// The names of the model's classes. A type of Swift or Foundation with one of these names is qualified by its
    /// module.
    private let classNames: Set<String>

    init(classNames: Set<String>) {
        self.classNames = classNames
    }

    /// The type of an attribute.
    func name(of attribute: ModelAttribute) -> String {
        if isDateInSeconds(attribute) { return foundation("TimeInterval") }
        if attribute.usesScalarValueType == true, let scalar = Self.scalars[attribute.type] { return swift(scalar) }
        return objectName(of: attribute) + "?"
    }

    /// The type with which the value of an attribute is read and written.
    func storedName(of attribute: ModelAttribute) -> String {
        isDateInSeconds(attribute) ? objectName(of: attribute) + "?" : name(of: attribute)
    }

    /// Whether the attribute is a date that the class represents as seconds since 2001.
    func isDateInSeconds(_ attribute: ModelAttribute) -> Bool {
        attribute.type == .date && attribute.usesScalarValueType == true
    }

    /// The type of a relationship to objects of a class.
    func name(of relationship: ModelRelationship, destination: String) -> String {
        guard relationship.isToMany else { return destination + "?" }
        return relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
    }

    private func objectName(of attribute: ModelAttribute) -> String {
        switch attribute.type {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: swift("String")
        case .date: foundation("Date")
        case .binaryData: foundation("Data")
        case .uuid: foundation("UUID")
        case .uri: foundation("URL")
        case .objectID: "NSManagedObjectID"
        case .composite: "[\(swift("String")): Any]"
        case .transformable: attribute.valueClassName.flatMap { $0.isEmpty ? nil : $0 } ?? "NSObject"
        case .undefined: "NSObject"
        }
    }

    private static let scalars: [ModelAttributeType: String] = [
        .integer16: "Int16", .integer32: "Int32", .integer64: "Int64", .double: "Double", .float: "Float",
        .boolean: "Bool",
    ]

    private func swift(_ name: String) -> String {
        classNames.contains(name) ? "Swift." + name : name
    }

    private func foundation(_ name: String) -> String {
        classNames.contains(name) ? "Foundation." + name : name
    }
}
