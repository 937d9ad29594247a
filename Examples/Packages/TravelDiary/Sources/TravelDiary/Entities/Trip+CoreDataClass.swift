//
//  Trip+CoreDataClass.swift
//  TravelDiary
//

import CoreData
import Foundation

@objc(Trip)
public class Trip: Record {
    /// The progress of a trip.
    @objc public enum Status: Int16, CaseIterable {
        case planned, current, finished, cancelled
    }

    /// Cleared when the object becomes a fault.
    private var cachedTotal: NSDecimalNumber?

    @objc public dynamic var status: Status {
        get {
            willAccessValue(forKey: #keyPath(Trip.status))
            defer { didAccessValue(forKey: #keyPath(Trip.status)) }
            return Status(rawValue: statusRawValue) ?? .planned
        }
        set {
            willChangeValue(forKey: #keyPath(Trip.status))
            defer { didChangeValue(forKey: #keyPath(Trip.status)) }
            statusRawValue = newValue.rawValue
        }
    }

    @objc public class func keyPathsForValuesAffectingStatus() -> Set<String> {
        [#keyPath(Trip.statusRawValue)]
    }

    /// The number of nights, or nil while a date is missing.
    @objc public var nights: NSNumber? {
        guard let startDate, let endDate else { return nil }
        let seconds = endDate.timeIntervalSince(startDate)
        return NSNumber(value: Int((seconds / 86_400).rounded()))
    }

    /// The sum of the expenses, without conversion of currencies.
    public var total: NSDecimalNumber {
        if let cachedTotal { return cachedTotal }
        let sum = (expenses?.allObjects as? [Expense] ?? [])
            .compactMap(\.amount)
            .reduce(NSDecimalNumber.zero) { $0.adding($1) }
        cachedTotal = sum
        return sum
    }

    /// Whether the expenses exceed the budget.
    public var isOverBudget: Bool {
        guard let budget else { return false }
        return total.compare(budget) == .orderedDescending
    }

    func expensesDidChange() {
        cachedTotal = nil
    }

    public override func didTurnIntoFault() {
        super.didTurnIntoFault()
        cachedTotal = nil
    }
}

// MARK: - Validation

extension Trip {
    public override func validateForInsert() throws {
        try super.validateForInsert()
        try validateDates()
        try validateName()
    }

    public override func validateForUpdate() throws {
        try super.validateForUpdate()
        try validateDates()
        try validateName()
    }

    func validateDates() throws {
        guard let startDate, let endDate, endDate < startDate else { return }
        throw TravelDiaryError.endsBeforeStart(name: name)
    }

    func validateName() throws {
        let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard trimmed.isEmpty else { return }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSValidationStringTooShortError,
            userInfo: [NSValidationKeyErrorKey: #keyPath(Trip.name), NSValidationObjectErrorKey: self])
    }
}
