import Foundation

extension NSMergePolicyType {
    /// Whether a batch insertion updates the existing row that has unique values of a new row. Otherwise the new row is
    /// omitted.
    ///
    /// - Throws: `CocoaError.managedObjectConstraintMerge` if the policy is to report the conflict.
    func updatesExistingRow(of entity: NSEntityDescription, with constraint: [String]) throws -> Bool {
        switch self {
        case .errorMergePolicyType:
            throw CocoaError(
                .managedObjectConstraintMerge,
                "A new row of “\(entity.name ?? "")” has values of \(constraint.joined(separator: ", ")) "
                    + "that another row has.")
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return false
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: return true
        }
    }
}
