import Foundation

/// An error of the data layer.
public enum TravelDiaryError: LocalizedError, Equatable {
    case endsBeforeStart(name: String)
    case invalidCoordinates(latitude: Double, longitude: Double)
    case missingModel
    case missingIdentifier(entity: String)
    case unknownObject(URL)

    public var errorDescription: String? {
        switch self {
        case .endsBeforeStart(let name): return "\(name) ends before it begins."
        case .invalidCoordinates(let latitude, let longitude): return "\(latitude), \(longitude) is not on this planet."
        case .missingModel: return "The model is missing from the bundle."
        case .missingIdentifier(let entity): return "A record of \(entity) has no identifier."
        case .unknownObject(let url): return "There is no object at \(url)."
        }
    }
}
