import PredicateLanguage

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
