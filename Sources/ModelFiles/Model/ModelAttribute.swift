import Foundation
import KeyedArchives
import PredicateLanguage

/// An attribute of an entity.
public struct ModelAttribute: ModelProperty {
    public var name: String
    /// The type of the value.
    public var type: ModelAttributeType
    public var isOptional: Bool
    public var isTransient: Bool
    public var isIndexed: Bool
    public var isIndexedBySpotlight: Bool
    /// Whether the value is stored in the Spotlight record, an abandoned feature of OS X 10.6.
    public var isStoredInExternalRecord: Bool
    /// Whether the value is encrypted in CloudKit.
    public var allowsCloudEncryption: Bool
    /// Whether large data may be stored in a file beside the store.
    public var allowsExternalBinaryDataStorage: Bool
    /// Whether the history of the store preserves the value of a deleted object.
    public var preservesValueInHistoryOnDeletion: Bool
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: PropertyListValue]
    /// The attribute's value in a new object; nil if it has none.
    public var defaultValue: ModelValue?
    /// The minimum value, the minimum length of a string, or the earliest date.
    public var minimum: ModelValue?
    /// The maximum value, the maximum length of a string, or the latest date.
    public var maximum: ModelValue?
    /// The pattern that the whole string must match.
    public var regularExpression: String?
    /// Conditions beyond ``minimum``, ``maximum`` and ``regularExpression``.
    public var customValidations: [ModelValidation]
    /// The transformer of a transformable value; nil is the default archiving.
    public var valueTransformerName: String?
    /// The class of a transformable or binary value, if the model names one that its type does not imply.
    public var valueClassName: String?
    /// Whether generated code uses a scalar type. Nil if the source has no such attribute. Only in source models.
    public var usesScalarValueType: Bool?
    /// How the store computes the value, for a derived attribute.
    public var derivation: ModelDerivation?
    /// The name of the composite type. Only in source models.
    public var compositeName: String?
    /// The elements of a composite attribute. Composites may be nested to a depth of ``maximumNesting``.
    public var elements: [ModelAttribute]
    /// Whether the attribute takes part in synchronisation. Nil if the source has no such attribute. Only in source
    /// models.
    public var isSyncable: Bool?
    public var position: ModelPosition

    /// Creates a required attribute with a name and type; everything else has its default.
    public init(
        name: String, type: ModelAttributeType, isOptional: Bool = false, isTransient: Bool = false,
        defaultValue: ModelValue? = nil, userInfo: [String: PropertyListValue] = [:]
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.defaultValue = defaultValue
        self.userInfo = userInfo
        isIndexed = false
        isIndexedBySpotlight = false
        isStoredInExternalRecord = false
        allowsCloudEncryption = false
        allowsExternalBinaryDataStorage = false
        preservesValueInHistoryOnDeletion = false
        customValidations = []
        elements = []
        position = ModelPosition()
    }

    /// The maximum depth of composites in composites, counted with the outermost one. A model with deeper ones can be
    /// neither read nor written.
    public static let maximumNesting = 32

    /// The maximum number of elements of one attribute in a source, with those in elements. Types that contain types can
    /// double them at each level.
    package static let maximumElementCount = 10_000

    /// Whether the store computes the value. Such an attribute cannot be set.
    public var isReadOnly: Bool { derivation != nil }

    /// Throws ``ModelError`` if a composite is the element of `depth` composites and that is more than
    /// ``maximumNesting`` allows.
    static func checkNesting(
        _ depth: Int, file: String? = nil, line: Int? = nil, entity: String? = nil, property: String? = nil
    ) throws {
        guard depth >= maximumNesting else { return }
        throw ModelError(
            .invalidValue, "Composite attributes are nested more than \(maximumNesting) levels deep.", file: file,
            line: line, entity: entity, property: property)
    }
}

/// The types of attributes. The raw values are those of files.
public enum ModelAttributeType: Int, Sendable, Hashable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binaryData = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100
}

/// How the store computes a derived attribute.
public struct ModelDerivation: Sendable, Equatable {
    /// The expression, evaluated on the object.
    public var expression: ExpressionNode
    /// A filter for the objects of a to-many relationship.
    public var filteringPredicate: PredicateNode?

    /// Creates a derivation.
    public init(expression: ExpressionNode, filteringPredicate: PredicateNode? = nil) {
        self.expression = expression
        self.filteringPredicate = filteringPredicate
    }
}

extension ModelAttribute {
    /// The error codes of Core Data for a value outside its limits.
    enum LimitCode {
        static let numberTooLarge = 1610
        static let numberTooSmall = 1620
        static let dateTooLate = 1630
        static let dateTooSoon = 1640
        static let stringTooLong = 1660
        static let stringTooShort = 1670
        static let stringPatternMatching = 1680
    }

    /// The conditions of ``minimum``, ``maximum`` and ``regularExpression``, then the custom ones.
    public var validations: [ModelValidation] {
        limitValidations + customValidations
    }

    /// The conditions that the limits of the source represent: on the value, the length of a string, or the seconds of
    /// a date since 2001.
    var limitValidations: [ModelValidation] {
        let (subject, tooSmall, tooLarge): (ExpressionNode, Int, Int) =
            switch type {
            case .string: (.keyPath("length"), LimitCode.stringTooShort, LimitCode.stringTooLong)
            case .date: (.keyPath("timeIntervalSinceReferenceDate"), LimitCode.dateTooSoon, LimitCode.dateTooLate)
            default: (.evaluatedObject, LimitCode.numberTooSmall, LimitCode.numberTooLarge)
            }
        var validations: [ModelValidation] = []
        if let minimum {
            let predicate = ComparisonNode(subject, .greaterThanOrEqualTo, .constant(value: minimum.limit))
            validations.append(ModelValidation(predicate: .comparison(predicate), warning: .code(tooSmall)))
        }
        if let maximum {
            let predicate = ComparisonNode(subject, .lessThanOrEqualTo, .constant(value: maximum.limit))
            validations.append(ModelValidation(predicate: .comparison(predicate), warning: .code(tooLarge)))
        }
        if let regularExpression {
            let predicate = ComparisonNode(.evaluatedObject, .matches, .constant(value: regularExpression))
            validations.append(
                ModelValidation(predicate: .comparison(predicate), warning: .code(LimitCode.stringPatternMatching)))
        }
        return validations
    }
}
