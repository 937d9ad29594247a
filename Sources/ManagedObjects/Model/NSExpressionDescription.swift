import Foundation

/// A computed column of a fetch whose results are dictionaries.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {  // because its superclass is
    /// The expression of the column.
    open var expression: NSExpression? { willSet { requireEditable() } }

    /// The type of the result.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { requireEditable() } }

    /// The type of the result: the same as ``expressionResultType``, in the newer API.
    public var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSExpressionDescription else { return }
        expression = original.expression
        expressionResultType = original.expressionResultType
    }
}
