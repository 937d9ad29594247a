import CoreData
import Foundation

/// Sums of expenses, computed by the store.
public final class ExpenseReport {
    public struct Line: Equatable {
        public let category: Expense.Category
        public let sum: NSDecimalNumber
        public let count: Int
    }

    private let context: NSManagedObjectContext

    public init(context: NSManagedObjectContext) {
        self.context = context
    }

    /// The sum of each category of a trip, the greatest first.
    public func lines(for trip: Trip) throws -> [Line] {
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(
            forFunction: "sum:", arguments: [NSExpression(forKeyPath: #keyPath(Expense.amount))])
        sum.expressionResultType = .decimalAttributeType

        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression(forKeyPath: #keyPath(Expense.amount))])
        count.expressionResultType = .integer64AttributeType

        let request = NSFetchRequest<NSDictionary>(entityName: "Expense")
        request.predicate = NSPredicate(format: "%K == %@", #keyPath(Expense.trip), trip)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [Expense.categoryKey, sum, count]
        request.propertiesToGroupBy = [Expense.categoryKey]

        let lines = try context.fetch(request).map { row -> Line in
            let category = (row[Expense.categoryKey] as? String).flatMap(Expense.Category.init) ?? .other
            return Line(
                category: category, sum: row["sum"] as? NSDecimalNumber ?? .zero, count: row["count"] as? Int ?? 0)
        }
        return lines.sorted { $0.sum.compare($1.sum) == .orderedDescending }
    }

    /// The amount that each traveler must receive (positive) or pay (negative) so that all have paid the same.
    public func balances(for trip: Trip) -> [Traveler: NSDecimalNumber] {
        let travelers = trip.sortedTravelers
        guard !travelers.isEmpty else { return [:] }
        let share = trip.total.dividing(by: NSDecimalNumber(value: travelers.count))
        var balances: [Traveler: NSDecimalNumber] = [:]
        for traveler in travelers {
            balances[traveler] = traveler.paid(on: trip).subtracting(share)
        }
        return balances
    }

    /// The sum of all expenses by key-value coding.
    public func total(of expenses: [Expense]) -> NSDecimalNumber {
        expenses.map { $0.value(forKey: #keyPath(Expense.amount)) as? NSDecimalNumber ?? .zero }
            .reduce(.zero) { $0.adding($1) }
    }
}
