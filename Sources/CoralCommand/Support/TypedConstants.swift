import Coral

/// Converts text in predicates to the type of the attribute with which it is compared: `createdAt > "2024-02-29"`.
///
/// The predicate language has no literals for dates, UUIDs and URLs, and a comparison of these with text never matches.
struct TypedConstants {
    let entity: NSEntityDescription
    /// The text of the predicate, for messages.
    let format: String
    /// The time zone of dates that do not state one; nil for UTC.
    var zone: TimeZone?

    /// The predicate with converted constants. Subqueries are not changed.
    ///
    /// Throws `CommandError` with a caret below text that cannot be converted. The parser has limited the depth.
    func typed(_ predicate: NSPredicate) throws -> NSPredicate {
        if let compound = predicate as? NSCompoundPredicate {
            let parts = try compound.subpredicates.compactMap { try ($0 as? NSPredicate).map(typed) }
            return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
        }
        guard let comparison = predicate as? NSComparisonPredicate else { return predicate }
        let (left, right) = (comparison.leftExpression, comparison.rightExpression)
        try warnOfNumber(comparison)
        guard let type = try type(of: left) ?? type(of: right) else { return predicate }
        return NSComparisonPredicate(
            leftExpression: try typed(left, as: type), rightExpression: try typed(right, as: type),
            modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
            options: comparison.options)
    }

    /// The type of the attribute at the end of a key path, if its values are written as text.
    private func type(of expression: NSExpression) throws -> GraphValueType? {
        guard let type = try attributeType(of: expression) else { return nil }
        return [.date, .uuid, .uri].contains(type) ? type : nil
    }

    private func attributeType(of expression: NSExpression) throws -> GraphValueType? {
        guard expression.expressionType == .keyPath else { return nil }
        let keys = expression.keyPath.split(separator: ".").map(String.init)
        let property = try KeyPathCheck(entity).check(keys, in: format)
        return (property as? NSAttributeDescription).map { GraphSchema.Attribute($0).type }
    }

    /// Warns of an order between a text and a number, which is that of texts: "9" is greater than 60.
    private func warnOfNumber(_ comparison: NSComparisonPredicate) throws {
        let orders: [NSComparisonPredicate.Operator] = [
            .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between,
        ]
        guard orders.contains(comparison.predicateOperatorType) else { return }
        let sides = [comparison.leftExpression, comparison.rightExpression]
        for (side, other) in zip(sides, sides.reversed()) where try attributeType(of: side) == .string {
            let values = other.expressionType == .aggregate ? other.collection as? [NSExpression] ?? [] : [other]
            if values.contains(where: { $0.expressionType == .constantValue && $0.constantValue is NSNumber }) {
                StandardError.warn(
                    "\(entity.name ?? "").\(side.keyPath) is text, and is compared as text, not as a number.")
            }
        }
    }

    private func typed(_ expression: NSExpression, as type: GraphValueType) throws -> NSExpression {
        switch expression.expressionType {
        case .constantValue:
            guard let text = expression.constantValue as? String else { return expression }
            return NSExpression(forConstantValue: try value(text, type))
        case .aggregate:
            let elements = (expression.collection as? [NSExpression] ?? []).map { $0 }
            return NSExpression(forAggregate: try elements.map { try typed($0, as: type) })
        default: return expression
        }
    }

    private func value(_ text: String, _ type: GraphValueType) throws -> Any {
        switch type {
        case .date:
            if let date = Self.date(text, in: zone) { return date }
            throw mistake("\"\(text)\" is not a date: write 2024-02-29, or 2024-02-29T12:30:00Z.", text)
        case .uuid:
            if let uuid = UUID(uuidString: text) { return uuid }
            throw mistake("\"\(text)\" is not a UUID.", text)
        default:
            if let url = URL(string: text) { return url }
            throw mistake("\"\(text)\" is not a URL.", text)
        }
    }

    /// A day or a time; in the zone, or UTC, if the text does not state a time zone.
    static func date(_ text: String, in zone: TimeZone?) -> Date? {
        // A date outside the calendar, as commands write it.
        if text.hasPrefix("@") {
            guard case .date(let seconds)? = TextValue.anyValue(text, as: .date), seconds.isFinite else { return nil }
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
        var text = text.replacingOccurrences(of: " ", with: "T")
        if !text.contains("T") { text += "T00:00:00" }
        let time = text[(text.firstIndex(of: "T") ?? text.startIndex)...]
        if time.count(where: { $0 == ":" }) == 1, !time.contains("+"), !time.contains("-") {
            text = text.hasSuffix("Z") ? text.dropLast() + ":00Z" : text + ":00"
        }
        let hasZone = text.hasSuffix("Z") || time.contains("+") || time.contains("-")
        guard case .date(let seconds)? = TextValue.anyValue(hasZone ? text : text + "Z", as: .date) else { return nil }
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        guard let zone, !hasZone else { return date }
        // The offset is looked up for the resulting time, because near a clock change it differs from the offset at the first
        // time.
        let near = date - TimeInterval(zone.secondsFromGMT(for: date))
        return date - TimeInterval(zone.secondsFromGMT(for: near))
    }

    private func mistake(_ sentence: String, _ text: String) -> CommandError {
        let quoted = ["'\(text)'", "\"\(text)\""].lazy.compactMap { format.range(of: $0) }.first
        guard let place = quoted else { return CommandError(sentence) }
        return CommandError(
            sentence + Caret.under(format.distance(from: format.startIndex, to: place.lowerBound), of: format))
    }
}
