import Foundation

/// An attribute whose value is a dictionary of elements, each with a column of its own.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {  // because its superclass is
    /// The elements, which may be composites again.
    open var elements: [NSAttributeDescription] = [] {
        willSet { requireEditable() }
        didSet { for element in allElements { element.entityIfAny = entityIfAny } }
    }

    /// Creates a composite attribute without elements.
    public required init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// All elements at all levels; a composite comes before its elements.
    internal final var allElements: [NSAttributeDescription] {
        var found: [NSAttributeDescription] = []
        var pending = Array(elements.reversed())
        while let element = pending.popLast() {
            found.append(element)
            if let composite = element as? NSCompositeAttributeDescription {
                pending.append(contentsOf: composite.elements.reversed())
            }
        }
        return found
    }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSCompositeAttributeDescription else { return }
        elements = original.elements.compactMap { $0.copy() as? NSAttributeDescription }
    }
}
