import Foundation
import KeyedArchives
import PredicateLanguage

extension ModelValue {
    /// An archived value converted to a type; ``archived(_:)`` when it is not of that type.
    init(_ value: ReadableValue, type: ModelAttributeType) {
        self =
            switch (type, value) {
            case (.integer16, .integer(let value)), (.integer32, .integer(let value)),
                (.integer64, .integer(let value)):
                .integer(value)
            case (.boolean, .boolean(let value)): .boolean(value)
            case (.boolean, .integer(let value)): .boolean(value != 0)
            case (.double, .real(let value)), (.float, .real(let value)): .double(value)
            case (.double, .integer(let value)), (.float, .integer(let value)): .double(Double(value))
            case (.decimal, .decimal(let value)): .decimal(value)
            case (.decimal, .integer(let value)): .decimal(Decimal(value))
            case (.decimal, .real(let value)): .decimal(value.isFinite ? Decimal(value) : .nan)
            case (.string, .string(let value)): .string(value)
            case (.date, .date(let value)): .date(value)
            case (.binaryData, .data(let value)): .data(value)
            case (.uuid, .uuid(let value)): .uuid(value)
            case (.uri, .url(let value)), (.uri, .string(let value)): .uri(value)
            default: .archived(value)
            }
    }

    /// The value as it is archived.
    var readable: ReadableValue {
        switch self {
        case .integer(let value): .integer(value)
        case .decimal(let value): .decimal(value)
        case .double(let value): .real(value)
        case .string(let value): .string(value)
        case .boolean(let value): .boolean(value)
        case .date(let value): .date(value)
        case .data(let value): .data(value)
        case .uuid(let value): .uuid(value)
        case .uri(let value): .url(value)
        case .archived(let value): value
        }
    }
}

extension ModelAttribute {
    /// Sets the validations of a compiled model: those that express a limit or a pattern become that limit or pattern, the
    /// others are kept unchanged.
    mutating func setValidations(_ validations: [ModelValidation]) {
        for validation in validations {
            var candidate = self
            candidate.takeLimit(validation)
            // A validation is replaced by a limit only when the limit gives the same validation.
            if candidate.limitValidations.contains(validation), candidate != self {
                self = candidate
            } else {
                customValidations.append(validation)
            }
        }
    }

    private mutating func takeLimit(_ validation: ModelValidation) {
        guard case .comparison(let comparison) = validation.predicate, case .constant(let constant) = comparison.right
        else { return }
        switch comparison.operation {
        case .greaterThanOrEqualTo where minimum == nil: minimum = limit(constant)
        case .lessThanOrEqualTo where maximum == nil: maximum = limit(constant)
        case .matches where regularExpression == nil: regularExpression = constant.value as? String
        default: break
        }
    }

    private func limit(_ constant: ConstantValue) -> ModelValue? {
        switch (type, PredicateValue(constant.value)) {
        case (.date, .integer(let value)): .date(Date(timeIntervalSinceReferenceDate: Double(value)))
        case (.date, .double(let value)): .date(Date(timeIntervalSinceReferenceDate: value))
        case (.double, .integer(let value)), (.float, .integer(let value)): .double(Double(value))
        case (.double, .double(let value)), (.float, .double(let value)): .double(value)
        case (.decimal, .integer(let value)): .decimal(Decimal(value))
        case (.decimal, .decimal(let value)): .decimal(value)
        case (_, .integer(let value)): .integer(value)
        case (_, .double(let value)): .double(value)
        default: nil
        }
    }
}
